"""Readers and writers of workload and configuration files: SWF, LWF, LWFA, Haizea's haizea.conf.

Plain text in, plain values out; a bad file is an ``InputFileError`` with file, line and problem.
"""
