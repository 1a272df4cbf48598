"""The evaluation of ERIK [Ribeiro & Paiva 2019, section 4]: samples, statistics, tables and figures."""
