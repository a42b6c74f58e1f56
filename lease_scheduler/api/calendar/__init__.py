"""The document of the calendar page: its parts, its cache, and how the parts are put together."""
