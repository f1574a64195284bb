import type { PipelinePlan } from './pipeline-plan.ts';

/** Everything of a world with phases that outlives its daemons: files of agents, and what people did with labels. */
export class PipelineWorld {
  readonly plan: PipelinePlan;
  /** The files that agents wrote, by workspace. */
  readonly files = new Map<string, Map<string, string>>();
  /** Folders of workspaces that stay out of the repository. */
  readonly keptOut = new Set<string>();
  /** How often something was changed in each checkout of a judge. */
  readonly judgeTrees = new Map<string, number>();
  /** By issue and phase, how often a person moved it there and Baton may not have obeyed yet. */
  readonly #moves = new Map<string, number>();
  #written = 0;

  constructor(plan: PipelinePlan) {
    this.plan = plan;
  }

  write(workspace: string, path: string, isShort: boolean): void {
    this.#written += 1;
    const files = this.files.get(workspace) ?? new Map<string, string>();
    files.set(path, artifactText(isShort, `Number ${this.#written}.`));
    this.files.set(workspace, files);
  }

  movedByHand(issueId: string, phase: string): void {
    const key = `${issueId} ${phase}`;
    this.#moves.set(key, (this.#moves.get(key) ?? 0) + 1);
  }

  /** Whether a person's label explains this move; each explains one. */
  obeys(issueId: string, phase: string): boolean {
    const key = `${issueId} ${phase}`;
    const left = this.#moves.get(key) ?? 0;
    if (left > 0) this.#moves.set(key, left - 1);
    return left > 0;
  }
}

export function artifactText(isShort: boolean, words: string): string {
  return `# ${isShort ? 'Something' : 'Findings'}\n\n${words}\n`;
}
