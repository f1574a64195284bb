import type { VNode } from 'preact';
import type { PromptComparison, PromptList, PromptMeasure } from '../../src/client/schema/prompt.ts';
import {
  costText,
  differenceTexts,
  middleText,
  shareText,
  shortVersion,
  timeText,
  tokensText,
} from '../../src/core/prompt/prompt-text.ts';
import { countText } from '../../src/core/text/amount-text.ts';
import { projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { useResource } from '../data/connection/resource.ts';
import { plainWords } from '../data/text/words.ts';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';

const againMs = 60_000;

/** What became of the runs of each prompt, and how the two prompts in use compare. */
export function SystemPrompts({ project }: { readonly project: string }): VNode {
  const { resource, reload } = useResource<PromptList>(projectPath(project, 'prompts'));
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  const two = value?.in_use.filter(({ role }) => role === 'worker') ?? [];
  const hasBoth =
    two.length === 2 && two.every(({ version }) => value?.prompts.some((each) => each.version === version));
  return (
    <>
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the prompts.</EmptyLine>}
      {value?.prompts.length === 0 && (
        <EmptyLine>No runs in the last 90 days. Baton measures prompts by how their runs end.</EmptyLine>
      )}
      {hasBoth && <Comparison project={project} shares={two} />}
      {value !== null && value.prompts.length > 0 && (
        <Table
          caption={`Prompts of ${project}`}
          rows={value.prompts}
          keyOf={({ version, role, agent }) => `${version} ${role} ${agent}`}
          columns={[
            { label: 'Prompt', cell: (each) => <Prompt measure={each} /> },
            { label: 'Role', cell: ({ role }) => plainWords(role) },
            { label: 'Agent', cell: ({ agent }) => <Text text={agent ?? 'all'} /> },
            { label: 'Runs', isNumber: true, cell: ({ runs }) => countText(runs) },
            { label: 'Success', cell: ({ success }) => shareText(success) },
            { label: 'Sent back', cell: ({ sent_back }) => shareText(sent_back) },
            { label: 'Tokens of a run', cell: ({ tokens }) => middleText(tokens, tokensText) },
            { label: 'Cost of a run', cell: ({ cost_usd }) => middleText(cost_usd, costText) },
            { label: 'To merge', cell: ({ to_merge_ms }) => middleText(to_merge_ms, timeText) },
          ]}
        />
      )}
      {value !== null && value.prompts.length > 0 && (
        <p>
          <small>The last 90 days. In brackets: the range that has the true value with 95 % confidence.</small>
        </p>
      )}
    </>
  );
}

function Prompt({ measure: { version, source } }: { readonly measure: PromptMeasure }): VNode {
  return (
    <span>
      <code>{shortVersion(version)}</code> <Text text={source} />
    </span>
  );
}

type Measured = keyof PromptComparison['differences'];

const names: readonly (readonly [Measured, string, (measure: PromptMeasure) => string])[] = [
  ['success', 'Runs that succeeded', ({ success }) => shareText(success)],
  ['sent_back', 'Results sent back', ({ sent_back }) => shareText(sent_back)],
  ['tokens', 'Tokens of a run', ({ tokens }) => middleText(tokens, tokensText)],
  ['cost_usd', 'Cost of a run', ({ cost_usd }) => middleText(cost_usd, costText)],
  ['to_merge_ms', 'First run to merge', ({ to_merge_ms }) => middleText(to_merge_ms, timeText)],
];

function Comparison({
  project,
  shares,
}: {
  readonly project: string;
  readonly shares: PromptList['in_use'];
}): VNode | null {
  const { resource, reload } = useResource<PromptComparison>(projectPath(project, 'prompts', 'compare'));
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  if (problem !== null) return <ProblemLine problem={problem} />;
  if (value === null) return null;
  const { a, b, differences } = value;
  const shareOf = ({ version }: PromptMeasure): string =>
    `${shares.find((each) => each.version === version)?.share ?? 0} % of the issues`;
  return (
    <>
      <p>
        A is <Prompt measure={a} /> for {shareOf(a)}, B is <Prompt measure={b} /> for {shareOf(b)}.
      </p>
      <Table
        caption={`Comparison of the prompts of ${project}`}
        rows={names}
        keyOf={([name]) => name}
        columns={[
          { label: 'Measure', cell: ([, label]) => label },
          { label: 'A', cell: ([, , textOf]) => textOf(a) },
          { label: 'B', cell: ([, , textOf]) => textOf(b) },
          { label: 'Difference', cell: ([name]) => differenceTexts[differences[name]] },
        ]}
      />
    </>
  );
}
