import type { ComponentType } from 'preact';
import { hasPipeline } from '../data/connection/live.ts';
import { BoardScreen } from './board.tsx';
import { CostsScreen } from './costs.tsx';
import { IssueScreen } from './issue.tsx';
import { NowScreen } from './now.tsx';
import { PipelineScreen } from './pipeline.tsx';
import { QueueScreen } from './queue.tsx';
import { ReviewScreen } from './review.tsx';
import { RunScreen } from './run.tsx';
import { SearchScreen } from './search.tsx';
import { SystemScreen } from './system.tsx';
import { TasksScreen } from './tasks.tsx';

/** A screen and its address. `params` has the named parts of the path; the query has everything else. */
export interface Screen {
  readonly path: string;
  readonly label: string;
  /** The key after `g`; null for a screen that only links lead to. */
  readonly key: string | null;
  /** Whether the navigation has it now; absent: always. */
  readonly isOffered?: () => boolean;
  readonly component: ComponentType<ScreenProps>;
}

export interface ScreenProps {
  readonly params: Readonly<Record<string, string>>;
}

/** All screens, in the order of the navigation. */
export const screens: readonly Screen[] = [
  { path: '/', label: 'Now', key: 'n', component: NowScreen },
  { path: '/board', label: 'Board', key: 'b', component: BoardScreen },
  { path: '/queue', label: 'Queue', key: 'q', component: QueueScreen },
  {
    path: '/pipeline',
    label: 'Pipeline',
    key: 'p',
    isOffered: () => hasPipeline.value,
    component: PipelineScreen,
  },
  { path: '/tasks', label: 'Tasks', key: 't', component: TasksScreen },
  { path: '/costs', label: 'Costs', key: 'c', component: CostsScreen },
  { path: '/system', label: 'System', key: 's', component: SystemScreen },
  { path: '/search', label: 'Search', key: null, component: SearchScreen },
  { path: '/issue/:project/:id', label: 'Issue', key: null, component: IssueScreen },
  { path: '/review/:project/:pull', label: 'Review', key: null, component: ReviewScreen },
  { path: '/run/:project/:run', label: 'Run', key: null, component: RunScreen },
];

/** Those that the navigation has now. */
export function offeredScreens(): readonly Screen[] {
  return screens.filter(({ key, isOffered }) => key !== null && (isOffered?.() ?? true));
}
