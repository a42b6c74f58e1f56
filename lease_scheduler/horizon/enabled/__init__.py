"""Files that an operator copies into Horizon's folder ``local/enabled``."""
