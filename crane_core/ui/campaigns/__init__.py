"""The parts of the Campaigns page, one per question of the lead."""
