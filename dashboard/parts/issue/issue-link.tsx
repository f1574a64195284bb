import type { VNode } from 'preact';
import { issueHref } from '../../data/page/router.ts';
import { Text } from '../shared/text.tsx';

interface IssueLinkProps {
  readonly project: string;
  readonly identifier: string | null;
  /** Whether the keys j and k go to it; not where its row has another element for them. */
  readonly isRow?: boolean;
}

/** The issue of a row, where it has one. */
export function IssueLink({ project, identifier, isRow = true }: IssueLinkProps): VNode {
  if (identifier === null) return <span class="none">–</span>;
  return (
    <a href={issueHref(project, identifier)} data-row={isRow || undefined}>
      <Text text={identifier} />
    </a>
  );
}
