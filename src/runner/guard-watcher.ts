import type { Logger } from '../core/logger.ts';
import type { RunWatcher } from './runner.ts';

/** The same watcher, unable to break a run or to keep an agent alive: what it throws is logged, and the run goes on. */
export function guardWatcher(watcher: RunWatcher, logger: Logger): RunWatcher {
  const guarded = (tell: () => void): void => {
    try {
      tell();
    } catch (error) {
      logger.error('run_watcher_failed', { error });
    }
  };
  return {
    onStage: (stage) => guarded(() => watcher.onStage(stage)),
    onWorkspace: (path) => guarded(() => watcher.onWorkspace(path)),
    onProcess: (process) => guarded(() => watcher.onProcess(process)),
    onSession: (threadId) => guarded(() => watcher.onSession(threadId)),
    onTurn: (turn) => guarded(() => watcher.onTurn(turn)),
    onMessage: (text) => guarded(() => watcher.onMessage(text)),
    onAnswersTold: () => guarded(() => watcher.onAnswersTold()),
    onEvent: (event) => guarded(() => watcher.onEvent(event)),
    onMove: (state) => guarded(() => watcher.onMove(state)),
    onNotMoved: () => guarded(() => watcher.onNotMoved()),
    onChanged: (changed, facts) => guarded(() => watcher.onChanged(changed, facts)),
    onDelivery: (delivery) => guarded(() => watcher.onDelivery(delivery)),
  };
}
