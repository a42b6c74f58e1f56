"""Readers and writers of files: workloads (SWF, LWF and older formats), annotations (LWFA), and data files of runs.

A bad file raises ``InputFileError`` with file, line and problem.
"""
