"""The negotiation of one lease with members, as a state machine without side effects.

``record.Negotiation`` is all that there is to know of it. ``advance.advance`` returns the record after an event, and
``calls.due`` the calls that a record makes necessary. The program that runs a negotiation first writes the record, and
then makes its calls:

.. code-block:: none

   begin ---> record ---> write it ---> due(record) ---> call members, or choose one
                ^                                             |
                +--- advance(record, what came of it) <-------+

Calls follow from the record alone, and each may be repeated. So a program that continues with a written record, after
any interruption, finishes the negotiation or gives back all that is held for it.
"""
