"""Haizea's XML-RPC interface, answered by the REST service (Sotomayor 2010, section 4.1.2; haizea F21-F24).

The front only translates and keeps no state, so any number of fronts may serve one service. It uses the client of the
REST API and the simulator's readers of Haizea's formats. It uses no engine, no store and no options.
"""
