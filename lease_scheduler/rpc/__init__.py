"""Between API and engine over oslo.messaging, and notifications to the outside. No decision is made here."""
