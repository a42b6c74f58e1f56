"""Configuration of Sphinx."""

from pbr.version import VersionInfo

project = "lease-scheduler"
author = "OpenStack"
version = release = VersionInfo("lease-scheduler").version_string()

extensions = ["sphinx.ext.autodoc"]
# Types stand in the signatures, so descriptions need not repeat them.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}

nitpicky = False
html_theme = "alabaster"
html_static_path = ["_static"]
html_theme_options = {"description": "Leases on one pool of OpenStack hosts", "page_width": "1100px"}
html_show_copyright = False
html_copy_source = False
