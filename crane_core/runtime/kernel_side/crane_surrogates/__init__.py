"""Surrogates: objects with the schema of those of a notebook and none of their values, on which libraries are asked.

Runs in its own process, in the interpreter whose libraries are asked. Knows libraries; refuses what is not on the list
of operations.py. Python 3.8 syntax, and nothing but the standard library until a library is asked.
"""
