import { isInputObjectType, isObjectType } from 'graphql';
import type { ToolAnswer } from '../../../core/tool-set.ts';
import type { Ask, WrittenText } from '../../tracker.ts';
import type { CallLinear } from '../call/call-linear.ts';
import type { LinearSettings } from '../linear-settings.ts';
import { narrowDocument } from './narrow-document.ts';
import { projectSchema } from './project-schema.ts';
import { failed } from './tool-answer.ts';
import type { ToolInput } from './tool-input.ts';
import { verifyNamed } from './verify-named.ts';

interface Parts {
  readonly call: CallLinear;
  readonly settings: LinearSettings;
  readonly newId: () => string;
}

/** A document that may be sent, with the texts that it writes. */
interface Fit extends ToolInput {
  readonly written: readonly WrittenText[];
}

/** Returns the document that may be sent for the agent's input, or the reasons why nothing may be sent. */
export async function fitToProject(
  { query, variables }: ToolInput,
  parts: Parts,
  ask: Ask,
): Promise<Fit | { readonly refused: readonly string[] }> {
  const { call, newId, settings } = parts;
  const { projectSlug, activeStates, toolScope } = settings;
  const narrowed = narrowDocument(query, variables, projectSlug, newId);
  if (!('query' in narrowed)) return { refused: narrowed };
  // Without a run there is no issue that may be changed.
  const ownIssue = toolScope === 'issue' ? (ask.run?.issueId ?? '') : null;
  const place = { call, projectSlug, activeStates, ownIssue, steers: ask.run?.steers };
  const { refused, issueIds } = await verifyNamed(narrowed.named, place, ask);
  if (refused.length > 0) return { refused };
  const written = narrowed.written.map(({ kind, name }) => ({
    kind,
    id: kind === 'issue' ? (issueIds.get(name) ?? name) : name,
  }));
  return { query: narrowed.query, variables: narrowed.variables, written };
}

/** Lists the allowed fields and says who can allow more, so that an agent does not have to guess. */
export function refusal(refused: readonly string[], projectSlug: string): ToolAnswer {
  const types = new Set(['Query', 'Mutation', ...refused.flatMap(typesIn)]);
  return failed(`\`linear_graphql\` is limited to the project ${projectSlug}; nothing was sent.`, {
    code: 'tool_scope',
    refused,
    allowed: Object.fromEntries([...types].flatMap((type) => allowedOf(type) ?? [])),
    next_step:
      'Use only the allowed fields. If the task needs more, say so: a person can set `tracker.provider.tool_scope: project`, or `tool_scope: any`, in `WORKFLOW.md`.',
  });
}

/** The types that a reason names. */
function typesIn(reason: string): readonly string[] {
  return [...reason.matchAll(/"(?<type>[A-Z]\w*)[!\]]*"/g)].map(({ groups }) => groups?.type ?? '');
}

function allowedOf(name: string): [[string, readonly string[]]] | null {
  const type = projectSchema().getType(name);
  return isObjectType(type) || isInputObjectType(type) ? [[name, Object.keys(type.getFields())]] : null;
}
