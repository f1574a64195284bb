import type { VNode } from 'preact';
import { issueHref } from '../../data/page/router.ts';
import { Text } from '../shared/text.tsx';

interface IssueLinkProps {
  readonly project: string;
  readonly identifier: string | null;
}

/** The issue of a row, where it has one. */
export function IssueLink({ project, identifier }: IssueLinkProps): VNode {
  if (identifier === null) return <span class="none">–</span>;
  return (
    <a href={issueHref(project, identifier)} data-row>
      <Text text={identifier} />
    </a>
  );
}
