import { BatonError } from '../../src/core/baton-error.ts';
import type { AgentSettings, Settings } from '../../src/core/settings.ts';
import type { Workflow, WorkflowSource } from '../../src/core/workflow.ts';
import { wholePrompt } from './question-book.ts';

/** The workflow file: people edit it, well and badly. */
export class SimulatedFile implements WorkflowSource {
  settings: Settings;
  problem: BatonError | null = null;
  /** The slots before each edit, with its time: a decision made just before the edit is still valid. */
  readonly before: { readonly slots: number; readonly until: number }[] = [];
  readonly #now: () => number;
  #revision = 1;

  constructor(settings: Settings, now: () => number) {
    this.settings = settings;
    this.#now = now;
  }

  edit(agent: Partial<AgentSettings>): void {
    this.before.push({ slots: this.settings.agent.maxConcurrentAgents, until: this.#now() });
    this.settings = { ...this.settings, agent: { ...this.settings.agent, ...agent } };
    this.#revision += 1;
  }

  /** Removes all limits on spending. */
  liftLimits(): void {
    const limits = { runsPerIssue: 0, tokensPerIssue: 0, runWallTimeMs: 0, issueWallTimeMs: 0, tokensPerDay: 0 };
    this.settings = { ...this.settings, limits: { ...this.settings.limits, ...limits } };
    this.#revision += 1;
  }

  /** Baton begins no work by itself any more: no scan, and no promotion. */
  becomeQuiet(): void {
    const { scanner, board } = this.settings;
    this.settings = {
      ...this.settings,
      scanner: { ...scanner, maxBacklog: 0 },
      board: { ...board, autoPromote: false },
    };
    this.#revision += 1;
  }

  spoil(): void {
    this.problem = new BatonError('workflow_parse_error', 'The simulated workflow file is bad just now.');
  }

  mend(): void {
    this.problem = null;
  }

  read(): ReturnType<WorkflowSource['read']> {
    const { settings, problem } = this;
    const workflow: Workflow = {
      path: '/w/WORKFLOW.md',
      revision: String(this.#revision),
      settings,
      renderPrompt: () => wholePrompt,
      promptOf: () => ({ version: 'v1', source: 'test' }),
      renderBranch: ({ identifier }) => `baton/${identifier}`,
    };
    return { workflow, problem };
  }
}
