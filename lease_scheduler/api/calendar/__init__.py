"""The document of the calendar page: its parts, which of them are kept, and how they are put together."""
