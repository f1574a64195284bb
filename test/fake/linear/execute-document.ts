import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
} from 'graphql';
import { NotModelled } from './failures.ts';
import { type Faults, stuckCursor } from './faults.ts';
import { matches } from './filter.ts';
import { linearSchema } from './linear-schema.ts';
import { mutations } from './mutations.ts';
import { type CursorKind, type Page, type PageArguments, pageNumber, pageOf } from './page.ts';
import { queries } from './queries.ts';
import type { LinearRecord } from './records.ts';
import { shapeOf, type TypeName } from './shape.ts';
import type { Workspace } from './workspace.ts';

/** One request while it is carried out. */
export interface Execution {
  readonly workspace: Workspace;
  readonly now: number;
  readonly cursors: CursorKind;
  readonly faults: Faults;
  /** The positions of issue records in the answer; kept only if some will be malformed. */
  readonly places: { readonly issueId: string; readonly path: readonly (string | number)[] }[];
  /** The pages that were read. */
  readonly pages: { readonly field: string; readonly page: number }[];
  /** Requests that are not modelled, and failures. */
  readonly complaints: string[];
}

export function executeDocument(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  operationName: string | null,
  execution: Execution,
): ExecutionResult | Promise<ExecutionResult> {
  return execute({
    schema: linearSchema(),
    document,
    variableValues: variables,
    operationName,
    contextValue: execution,
    fieldResolver: resolve,
    // Every abstract type that is modelled holds records that say what they are.
    typeResolver: (value) => (value as LinearRecord).__typename,
  });
}

const resolve: GraphQLFieldResolver<unknown, Execution> = (source, args, execution, info) => {
  try {
    const value = resolveField(source, args, execution, info);
    return value instanceof Promise ? value.catch((error: unknown) => complain(execution, error)) : value;
  } catch (error) {
    return complain(execution, error);
  }
};

/** Only prepared values may be answers; anything else is a defect and must be visible. */
function complain({ complaints }: Execution, error: unknown): never {
  if (!(error instanceof GraphQLError)) complaints.push(error instanceof Error ? error.message : String(error));
  throw error;
}

function resolveField(source: unknown, args: PageArguments, execution: Execution, info: GraphQLResolveInfo): unknown {
  const type = info.parentType.name;
  if (type === 'Query' || type === 'Mutation') {
    const answer = type === 'Query' ? queries[info.fieldName] : mutations[info.fieldName];
    if (answer === undefined) throw new NotModelled(`${type}.${info.fieldName}`);
    // The schema guarantees the arguments of each root field.
    return present(answer(execution.workspace, args as never), args, execution, info);
  }
  // All other answers are objects of the fake.
  const record = source as LinearRecord;
  if (!/^(?:\w+(?:Connection|Edge|Payload)|PageInfo)$/.test(type)) {
    const shape = shapeOf(record.__typename, info.fieldName);
    if (shape.kind === 'time') return isoTime(shape.read(record as never));
    const value = shape.read(record as never, execution.workspace.records);
    if (shape.kind === 'list') return value;
    return present(shape.kind === 'many' ? { list: value, type: shape.type } : value, args, execution, info);
  }
  const own = (source as Readonly<Record<string, unknown>>)[info.fieldName];
  if (own === undefined) throw new NotModelled(`${type}.${info.fieldName}`);
  return own;
}

/** The result of a root field: a record, a payload, or a listing to page through. */
export interface Listing {
  readonly list: Iterable<LinearRecord>;
  readonly type: TypeName;
}

function present(answer: unknown, args: PageArguments, execution: Execution, info: GraphQLResolveInfo): unknown {
  if (isListing(answer)) return readPage(answer, args, execution, info);
  if (execution.faults.malformed.size > 0 && isIssue(answer)) {
    execution.places.push({ issueId: answer.id, path: pathOf(info) });
  }
  return answer;
}

function readPage(listing: Listing, args: PageArguments, execution: Execution, info: GraphQLResolveInfo): unknown {
  const { faults } = execution;
  const trouble = faults.endCursor.get(info.fieldName);
  const asked = trouble === 'stuck' && args.after === stuckCursor ? { ...args, after: null } : args;
  const number = pageNumber(asked);
  execution.pages.push({ field: info.fieldName, page: number });
  const read = (): Page => {
    const world = { records: execution.workspace.records, now: execution.now };
    const filter = (args as { readonly filter?: unknown }).filter ?? {};
    const meant = [...listing.list].filter((record) => matches(filter, listing.type, record, world));
    const page = pageOf(meant, asked, execution.cursors);
    if (faults.malformed.size > 0) remember(page, execution, info);
    if (trouble === undefined) return page;
    const endCursor = trouble === 'stuck' ? stuckCursor : null;
    return { ...page, pageInfo: { ...page.pageInfo, hasNextPage: true, endCursor } };
  };
  if (number === 1 || faults.betweenPages === null) return read();
  const between = faults.betweenPages(info.fieldName, number);
  return between instanceof Promise ? between.then(read) : read();
}

/** The positions of the issues of a page, in both forms that a document can request. */
function remember({ nodes }: Page, { places }: Execution, info: GraphQLResolveInfo): void {
  const path = pathOf(info);
  for (const [at, record] of nodes.entries()) {
    if (!isIssue(record)) continue;
    places.push({ issueId: record.id, path: [...path, 'nodes', at] });
    places.push({ issueId: record.id, path: [...path, 'edges', at, 'node'] });
  }
}

function isListing(answer: unknown): answer is Listing {
  return typeof answer === 'object' && answer !== null && 'list' in answer;
}

function isIssue(answer: unknown): answer is LinearRecord & { readonly __typename: 'Issue' } {
  return typeof answer === 'object' && answer !== null && '__typename' in answer && answer.__typename === 'Issue';
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function pathOf(info: GraphQLResolveInfo): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: typeof info.path | undefined = info.path; at !== undefined; at = at.prev) path.unshift(at.key);
  return path;
}
