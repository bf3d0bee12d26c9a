"""Pairs of notebooks executed: does each do what its benchmark claims, and may a new one be added?"""
