"""How cost grows: with traces, samples, channels, length, restarts and workers; on streams, and on a card."""
