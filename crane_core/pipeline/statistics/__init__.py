"""Every kind of statistic that pages show, one file each: `collect(material)` yields them. The folder is the list."""
