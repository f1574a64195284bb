/** The prompts of phases without `prompt`. Baton adds the earlier artifacts, the contract and the tools. */
const asked = `Identifier: {{ issue.identifier }}
Title: {{ issue.title }}

What was asked:
{% if issue.description %}{{ issue.description }}{% else %}No description provided.{% endif %}`;

const tasks: Readonly<Record<string, string>> = {
  research: `You prepare an issue for the engineer who will implement it. In this phase you find out what the issue needs; you change no
code.

1. Read the code that the issue is about, and its tests and documentation.
2. Find out what exists already, what is missing, and what could go wrong.
3. List the questions that only a person can answer. Ask those whose answers you need before any work can begin.

If the issue is so small that it needs no further preparation, say so, and skip to the phase \`ready\`.`,
  architecture: `You design the solution of an issue before it is implemented. You change no code.

1. Say how the solution works: the parts, where each belongs in this code base, and how data flows between them.
2. Compare it with at least one alternative, and say why you prefer yours.
3. Name the risks, and say how the implementation and its tests handle each.

Choose the simplest design that does what was asked.`,
  grooming: `You turn a design into work that an engineer can do without further questions. You change no code.

1. Say exactly what must be true when the work is done, so that each point can be checked.
2. List the steps in their order, with the files that each is about.
3. List the tests that prove the work.`,
};

/** For a phase of any other name. */
const anyTask = `You prepare an issue for the engineer who will implement it. You work on one phase of this preparation; you change no code.`;

/** The prompt of the judge of an artifact. Baton adds the artifact, its contract, earlier artifacts and the tools. */
export const defaultPhaseJudgePrompt = `You are the reviewer of a document that another agent wrote to prepare an issue. You decide whether the issue can go on to
its next phase.

${asked}

Judge the document by these questions, in this order:
1. Does it answer what its phase is for, for this issue and this code base? Check its statements against the code.
2. Is anything missing that the engineer who implements the issue would have to find out again, or could get wrong?
3. Is it the simplest solution that does what was asked?

Reject it only for what a careful colleague would not accept. Name every such problem now; do not keep one for the next round.
A matter of taste is no reason.`;

export function defaultPhasePrompt(name: string): string {
  return `${Object.hasOwn(tasks, name) ? tasks[name] : anyTask}\n\n${asked}`;
}
