"""Campaigns: who labels what, how is it going, what is decided?"""

import streamlit as st

from crane_core.domain import Listed
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns.campaigns import campaign_names
from crane_core.ui import data, keys
from crane_core.ui.access import admitted_as_lead, draw_who_may_see
from crane_core.ui.campaigns.adjudication import draw_adjudication
from crane_core.ui.campaigns.listed import draw_list
from crane_core.ui.campaigns.new_campaign import draw_new
from crane_core.ui.campaigns.one_campaign import draw_campaign
from crane_core.ui.campaigns.progress import draw_thread
from crane_core.ui.frame import page
from crane_core.ui.inventory_view import draw_removed

with page(needs=Role.LEAD):
    if admitted_as_lead():
        campaign = st.query_params.get(keys.CAMPAIGN)
        if campaign and st.query_params.get(keys.DECIDE):
            draw_adjudication(campaign)
        elif campaign and (thread := st.query_params.get(keys.THREAD)):
            draw_thread(campaign, thread)
        elif campaign:
            draw_campaign(campaign)
        else:
            names = campaign_names(data.folder())
            draw_list(names)
            draw_removed(Listed.CAMPAIGN)
            # Without a campaign the title says it.
            if names:
                st.header("New campaign", anchor="new")
            draw_new()
        draw_who_may_see()
