"""File formats that kernels and compiled programs are exchanged in, read into the dialects and written from them."""
