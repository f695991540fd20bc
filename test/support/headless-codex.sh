# A fake `codex exec --json`: it says what it was given, on one line per prompt. Its arguments are in the file `argv`.
echo "$*" > argv
text=$(sed 's/\\/\\\\/g; s/"/\\"/g' | tr '\n' '|')
echo '{"type":"thread.started","thread_id":"t-1"}'
echo '{"type":"turn.started"}'
printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Got: %s\\nThread: %s\\nIn: %s"}}\n' "$text" "$THREADMUX_THREAD" "$PWD"
echo '{"type":"turn.completed","usage":{}}'
