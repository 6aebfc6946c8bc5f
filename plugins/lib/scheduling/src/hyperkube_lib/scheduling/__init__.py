"""What several scheduling plugins share: which nodes a pod selects, how many pods match, how resources score."""
