import type { VNode } from 'preact';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { runHref } from '../../data/page/router.ts';
import { hint } from '../shared/tooltip.tsx';

interface WatchLinkProps {
  readonly project: string;
  readonly runId: string;
  readonly identifier: string | null;
}

export function WatchLink({ project, runId, identifier }: WatchLinkProps): VNode {
  return (
    <a
      class="button"
      data-part="watch"
      href={runHref(project, runId)}
      aria-label={`Watch the run of ${harmlessLine(identifier ?? '')}`}
      {...hint('Follow what the agent says and does')}
    >
      Watch
    </a>
  );
}
