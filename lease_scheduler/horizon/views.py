"""What the panel shows, and the session that its script hands to the calendar page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.generic import View
from horizon.views import HorizonTemplateView

from lease_scheduler.horizon.catalogue import origin_of, page_url


class IndexView(HorizonTemplateView):
    """The panel. Its page contains no token, so that none is in a cache, a history or a saved page."""

    template_name = "lease_calendar/index.html"
    page_title = _("Lease Calendar")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return what the template shows."""
        user = self.request.user
        url = page_url(user.service_catalog, user.services_region) or ""
        own = {"page_url": url, "page_origin": origin_of(url), "owner": _owner(user)}
        return {**super().get_context_data(**kwargs), **own}


@method_decorator(never_cache, name="dispatch")
class SessionView(View):
    """The token of the user, for the script of the panel.

    Only POST is served, which Django refuses to other sites: their requests lack the CSRF token.
    """

    http_method_names = ("post",)

    @method_decorator(sensitive_variables())
    def post(self, request: HttpRequest) -> JsonResponse:
        """Return the token, whose it is, and the seconds until Horizon ends an idle session."""
        user: Any = request.user
        seconds = request.session.get_expiry_age()
        return JsonResponse({"token": user.token.id, "owner": _owner(user), "seconds": seconds})


def _owner(user: Any) -> str:
    """Return a text that differs when the user, the project or the region does."""
    return f"{user.id} {user.project_id} {user.services_region}"
