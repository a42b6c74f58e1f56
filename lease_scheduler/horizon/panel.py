"""The panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import horizon
from django.utils.translation import gettext_lazy as _

from lease_scheduler.horizon.catalogue import SERVICE_TYPE, page_url


class LeaseCalendar(horizon.Panel):
    """The calendar page, for users who work for a project in a region that has the service."""

    name = _("Lease Calendar")
    slug = "lease_calendar"
    permissions = (f"openstack.services.{SERVICE_TYPE}",)

    def allowed(self, context: Mapping[str, Any]) -> bool:
        """Return whether the user may open the panel."""
        user = context["request"].user
        has_page = bool(user.project_id) and page_url(user.service_catalog, user.services_region) is not None
        return has_page and bool(super().allowed(context))
