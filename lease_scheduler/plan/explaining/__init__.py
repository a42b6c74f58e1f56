"""Answers to questions about the plan: quotes, alternatives, and reasons of refusals. They change nothing."""
