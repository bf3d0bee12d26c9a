"""The steps of the workbench, from a question to its answer: a room per task, one step per file.

Above the rooms is what several of them share.
"""
