from __future__ import annotations

import base64

from lease_scheduler.service.telling.subscriptions.signature import new_secret, signed_headers


def test_the_example_of_the_specification() -> None:
    """Standard Webhooks, the values of its reference libraries' tests."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    assert signed_headers(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body) == {
        "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "Webhook-Timestamp": "1614265330",
        "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_a_secret_is_random_and_long_enough() -> None:
    """The specification asks for 24 to 64 bytes."""
    first, second = new_secret(), new_secret()
    assert first != second
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32
