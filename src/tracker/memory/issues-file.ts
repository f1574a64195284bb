import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import { type Issue, normalizeLabels } from '../../core/issue/issue.ts';
import { localAuthor } from '../../core/text/fence.ts';

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** One issue of the file. Identifier and title are required; the rest has the defaults of an untouched issue. */
const issueInFile = z.strictObject({
  id: z.string().min(1).optional(),
  identifier: z.string().min(1),
  title: z.string().min(1),
  description: z.string().nullish(),
  priority: z.int().nullish(),
  state: z.string().min(1).default('Todo'),
  branch_name: z.string().nullish(),
  url: z.string().nullish(),
  assignee_id: z.string().nullish(),
  labels: z.array(z.string()).default([]),
  blocked_by: z.array(z.string()).default([]),
  dispatchable: z.boolean().default(true),
  created_at: time.nullish(),
  updated_at: time.nullish(),
});

/**
 * Reads the issues of a `memory` tracker from YAML or JSON text: a list, in which `blocked_by` names identifiers. The
 * position in the list replaces a missing time of creation. The author of all issues is the local user.
 */
export function parseIssuesFile(text: string, path: string): Issue[] {
  const refuse = (what: string, cause?: unknown): BatonError =>
    new BatonError('invalid_tracker_config', `The issues file ${path} is invalid: ${what}.`, {
      cause,
      details: { key: 'tracker.provider.issues_file', path },
    });
  let raw: unknown;
  try {
    raw = plainData(text);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error), error);
  }
  const parsed = z.array(issueInFile).safeParse(raw ?? []);
  if (!parsed.success) throw refuse(z.prettifyError(parsed.error).replaceAll('\n', ' '));
  const entries = parsed.data;
  const byIdentifier = new Map(entries.map((entry) => [entry.identifier, entry]));
  if (byIdentifier.size !== entries.length) throw refuse('two issues have the same identifier');
  return entries.map((entry, index) => ({
    id: entry.id ?? entry.identifier,
    identifier: entry.identifier,
    title: entry.title,
    description: entry.description ?? null,
    priority: entry.priority ?? null,
    state: entry.state,
    branchName: entry.branch_name ?? null,
    url: entry.url ?? null,
    assigneeId: entry.assignee_id ?? null,
    authorNames: [localAuthor],
    labels: normalizeLabels(entry.labels),
    blockedBy: entry.blocked_by.map((identifier) => {
      const blocker = byIdentifier.get(identifier);
      if (blocker === undefined)
        throw refuse(`${entry.identifier} is blocked by ${identifier}, which is not in the list`);
      return { id: blocker.id ?? identifier, identifier, state: blocker.state };
    }),
    dispatchable: entry.dispatchable,
    nativeRef: null,
    createdAt: entry.created_at ?? index,
    updatedAt: entry.updated_at ?? null,
  }));
}

/** A list of issues with lists in them needs less; the library takes exponential time for keys inside of keys. */
const deepestPath = 12;

/** The data of YAML text; throws where it is broken, nested too deep or has a key that is not a single value. */
function plainData(text: string): unknown {
  const lineCounter = new LineCounter();
  // Its own pretty errors quote the text for each of thousands.
  const document = parseDocument(text, { logLevel: 'error', prettyErrors: false, lineCounter });
  const [broken] = document.errors;
  if (broken !== undefined) throw new Error(`line ${lineCounter.linePos(broken.pos[0]).line}: ${broken.message}`);
  visit(document, {
    Node: (_key, _node, above) => {
      if (above.length > deepestPath) throw new Error('it is nested too deep');
    },
    Pair: (_key, { key }) => {
      if (!isScalar(key)) throw new Error('a key must be a single value');
    },
  });
  return document.toJS({ maxAliasCount: 100 });
}
