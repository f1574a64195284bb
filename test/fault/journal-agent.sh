#!/bin/sh
# What the agents of the fault suite do, called by each agent: `begin`, perhaps `wait`, then `work`. It keeps a journal beside itself,
# outside of every workspace, one whole line a write.
#
# A companion that leaves the process group holds the lock of the issue for as long as anything of the run lives, for
# the kernel alone says whether a lock is held, whatever pids look like. A run that begins while it is held says so.
folder=$(dirname "$0")

note() {
  echo "$1 $BATON_ISSUE_IDENTIFIER $BATON_RUN_ID" >> "$folder/journal"
}

case $1 in
  begin)
    exec 9>> "$folder/$BATON_ISSUE_IDENTIFIER.lock"
    flock --nonblock 9 || note overlap
    echo "$BATON_RUN_ID" >> kept.txt
    note start
    setsid sh -c 'mkdir "$0"; exec sleep 600' "$folder/$BATON_RUN_ID.held" < /dev/null > /dev/null 2>&1 &
    until [ -d "$folder/$BATON_RUN_ID.held" ]; do sleep 0.01; done
    ;;
  wait)
    until [ -e "$folder/go" ]; do sleep 0.05; done
    ;;
  work)
    # Done once however often it is repeated.
    mkdir "$folder/$BATON_ISSUE_IDENTIFIER.done" 2> /dev/null && note work
    note end
    ;;
esac
