"""The login of the calendar page: a thin proxy of Keystone, so that browsers need to reach only this service.

Its routes stand outside of the versioned API, as the files of the page do. Nothing is kept here: the tab of the browser
keeps the tokens. Requests have JSON bodies, which a form of another site cannot send.
"""
