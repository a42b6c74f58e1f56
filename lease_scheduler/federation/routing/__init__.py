"""Which member gets a request: allocation gives members shares or puts them in order, dispatch draws one by its share.

All of it comes from the gateway of Amini Salehi (2012, chapter 4), except the policies that compare bids.
"""
