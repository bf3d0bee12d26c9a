"""Crane Workbench: will the next notebook cell crash, and who predicts it?"""
