"""Tests of the facts about a refused pod."""
