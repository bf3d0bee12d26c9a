"""Every kind of statistic that pages show: `KINDS` of each file names functions of material. The folder is the list."""
