import type { VNode } from 'preact';
import { activities } from '../../data/issue/activity.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';
import { Icon } from '../shared/icon.tsx';
import { hint } from '../shared/tooltip.tsx';
import { TypedFilter } from '../shared/typed-filter.tsx';

interface ToolbarProps {
  readonly labels: readonly string[];
  /** The requested issues are not there yet; the shown ones are older. */
  readonly isAsking: boolean;
  /** Null if the board is read-only, and if there are several boards: each has its own button. */
  readonly onNew: (() => void) | null;
}

/** The filters of the board. They are in the address, so that a link to it shows the same. */
export function BoardToolbar({ labels, isAsking, onNew }: ToolbarProps): VNode {
  return (
    <search class="toolbar">
      <TypedFilter name="q" label="Search the board" placeholder="Search" />
      <TypedFilter name="label" label="Label" type="text" placeholder="Label" list="board-labels" />
      <datalist id="board-labels">
        {labels.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
      <select
        data-part="priority"
        aria-label="Priority"
        value={queryWord('priority')}
        onChange={({ currentTarget }) => setQuery({ priority: currentTarget.value })}
      >
        <option value="">Any priority</option>
        {['1', '2', '3', '4'].map((priority) => (
          <option key={priority} value={priority}>
            P{priority}
          </option>
        ))}
        <option value="none">No priority</option>
      </select>
      <select
        aria-label="Activity"
        value={queryWord('activity')}
        onChange={({ currentTarget }) => setQuery({ activity: currentTarget.value })}
      >
        <option value="">Any activity</option>
        {activities.map((activity) => (
          <option key={activity}>{activity}</option>
        ))}
      </select>
      {isFiltered() && (
        <button
          type="button"
          class="quiet"
          data-part="clear_filters"
          onClick={() => setQuery({ q: null, label: null, priority: null, activity: null })}
        >
          Clear filters
        </button>
      )}
      <output class="quiet-text" aria-busy={isAsking}>
        {isAsking ? 'Loading…' : ''}
      </output>
      {onNew !== null && (
        <button
          type="button"
          class="main new"
          data-part="issue_file"
          onClick={onNew}
          {...hint('File an issue: what an agent should do')}
        >
          <Icon name="plus" />
          New issue
        </button>
      )}
    </search>
  );
}

function isFiltered(): boolean {
  return ['q', 'label', 'priority', 'activity'].some((name) => queryWord(name) !== '');
}
