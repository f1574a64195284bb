import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunDetail } from '../../../src/client/schema/run.ts';
import { now } from '../../data/page/clock.ts';
import { type Step, stepTree } from '../../data/run/step-tree.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { countWords, stepWords } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';

/** More children of a step are shown on request. */
const mostShown = 40;

/** The steps of a run with their durations. What failed it, or what happens now, is open. */
export function RunSteps({ run }: { readonly run: RunDetail }): VNode | null {
  const nowMs = run.ended_at === null ? now.value : 0;
  const steps = useMemo(() => stepTree(run, nowMs), [run, nowMs]);
  if (steps.length === 0) return null;
  return (
    <section class="run-steps" aria-label="Steps">
      <StepList steps={steps} error={run.error_message} />
      {run.are_spans_cut && <p class="quiet-text">Only the first and the last steps are shown.</p>}
    </section>
  );
}

interface StepListProps {
  readonly steps: readonly Step[];
  /** What failed the run: shown at the step that did. */
  readonly error: string | null;
}

function StepList({ steps, error }: StepListProps): VNode {
  const isAll = useSignal(false);
  const shown = isAll.value ? steps : steps.slice(-mostShown);
  const hidden = steps.length - shown.length;
  return (
    <ol>
      {hidden > 0 && (
        <li>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              isAll.value = true;
            }}
          >
            Show {countWords(hidden, 'earlier step', 'earlier steps')}
          </button>
        </li>
      )}
      {shown.map((step, index) => (
        <li key={hidden + index} data-step={step.kind} data-result={step.result}>
          <StepLine step={step} error={error} />
        </li>
      ))}
    </ol>
  );
}

function StepLine({ step, error }: { readonly step: Step; readonly error: string | null }): VNode {
  const { children, result, isOnPath } = step;
  const isCause = result === 'failed' && isOnPath && !children.some((child) => child.isOnPath);
  /** Undefined: no one has opened or folded it, so it follows the run. */
  const chosen = useSignal<boolean | undefined>(undefined);
  const isOpen = chosen.value ?? isOnPath;
  const hasMore = children.length > 0 || (isCause && error !== null);
  if (!hasMore)
    return (
      <div class="step">
        <StepFacts step={step} />
      </div>
    );
  return (
    <>
      <button
        type="button"
        class="step"
        aria-expanded={isOpen}
        data-row
        onClick={() => {
          chosen.value = !isOpen;
        }}
      >
        <StepFacts step={step} isOpen={isOpen} />
      </button>
      {isOpen && (
        <div class="step-content">
          {isCause && error !== null && (
            <p class="problem">
              <Text text={reasonWords(error)} lines />
            </p>
          )}
          {children.length > 0 && <StepList steps={children} error={error} />}
        </div>
      )}
    </>
  );
}

const marks: Readonly<Record<Step['result'], { readonly sign: string; readonly word: string }>> = {
  ok: { sign: '✓', word: 'succeeded' },
  failed: { sign: '✕', word: 'failed' },
  running: { sign: '●', word: 'in progress' },
  unknown: { sign: '○', word: 'ended' },
};

function StepFacts({ step, isOpen }: { readonly step: Step; readonly isOpen?: boolean }): VNode {
  const { kind, result, left, width, ms, children } = step;
  return (
    <>
      <span class="fold" aria-hidden="true">
        {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
      </span>
      <span class={`mark ${result}`}>
        <span aria-hidden="true">{marks[result].sign}</span>
        <span class="unseen">{marks[result].word}: </span>
      </span>
      <span class="step-name">
        <Text text={nameOf(step)} />
        {isOpen === false && children.length > 0 && <small> {countWords(children.length, 'step', 'steps')}</small>}
      </span>
      <span class="step-track" aria-hidden="true">
        <span
          class={`bar ${kind}${result === 'failed' ? ' bad' : ''}`}
          style={{ left: `${Math.min(left, 99.5)}%`, width: `${width}%` }}
        />
      </span>
      <span class="number">{stepWords(ms)}</span>
    </>
  );
}

/** The stages in full; the short words are for columns. */
const stages: Readonly<Record<string, string | undefined>> = {
  preparing_workspace: 'Prepare the workspace',
  building_prompt: 'Build the prompt',
  launching_agent_process: 'Launch the agent',
  initializing_session: 'Open the session',
  streaming_turn: 'Work',
  finishing: 'Finish',
};

function nameOf({ kind, name }: Step): string {
  if (kind === 'stage') return stages[name] ?? name.replaceAll('_', ' ');
  if (kind === 'turn') return name.replace(/^t/u, 'T');
  return kind === 'question' ? `Question: ${name}` : name;
}
