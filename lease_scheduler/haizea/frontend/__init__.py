"""Haizea's way in: its XML-RPC methods, answered by the REST service (Sotomayor 2010, section 4.1.2; haizea F21-F24).

It translates and keeps nothing: any number of fronts may stand before one service. It knows the REST API as its client
does, and Haizea's formats as the simulator reads them; it knows no engine, no store and no options.
"""
