import { Context, Liquid, LiquidError, type Template } from 'liquidjs';
import { BatonError } from '../../core/baton-error.ts';
import type { ProblemDetails } from '../../core/problem.ts';
import { fenceState } from '../../core/text/fence.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import { keepFences } from './fenced-text.ts';

/** A template that needs more steps than this does not end, or should not be a prompt. */
const mostSteps = 100_000;
/** The library counts characters and list items that filters and ranges create. */
const mostMemory = 8_000_000;
const longestTextChars = 4_000_000;
const longestExcerptChars = 120;

const liquid = new Liquid({
  strictVariables: true,
  strictFilters: true,
  // `{% if issue.url %}` and `| default:` must be able to test whether a value is present.
  lenientIf: true,
  ownPropertyOnly: true,
  // Without templates in memory, `include`, `render` and `layout` would read files.
  templates: {},
  memoryLimit: mostMemory,
  outputEscape: textOf,
  timezoneOffset: 0,
  locale: 'en-US',
});

/** The mark of each rendering that has fences. */
const marks = new WeakMap<object, string>();
keepFences(liquid, (context) => marks.get(context) ?? null);

export interface TemplateSource {
  readonly text: string;
  /** What the template is for, such as `the prompt template`. */
  readonly name: string;
  /** The workflow file. */
  readonly path: string;
  /** The line of the file on which `text` starts; null when `text` is the value of a key. */
  readonly firstLine: number | null;
}

type Variables = Record<string, unknown>;

/** Renders a template; with a mark, every fence of that mark in the result is complete. */
export type Render = (variables: Variables, mark?: string | null) => string;

/**
 * Parses a template once and returns the function that renders it, which throws `template_render_error` if it cannot.
 * Returns null and reports a problem when the text is not valid Liquid.
 */
export function compileTemplate(source: TemplateSource, report: Report): Render | null {
  let template: Template[];
  try {
    template = liquid.parse(source.text);
  } catch (thrown) {
    const { reason, details } = explain(thrown, source);
    const message = `${source.name} is not valid Liquid: ${reason}`;
    report(errorAt(null, message, { code: 'template_parse_error', ...details }));
    return null;
  }
  return (variables, mark = null) => render(template, variables, mark, source);
}

function render(template: Template[], variables: Variables, mark: string | null, source: TemplateSource): string {
  try {
    const context = new Context(variables, liquid.options, { sync: true }, { liquid });
    limitSteps(context);
    if (mark !== null) marks.set(context, mark);
    const text = String(liquid.renderSync(template, context));
    if (text.length > longestTextChars) {
      throw new TemplateLimit('too_long', `its result is longer than ${longestTextChars} characters`);
    }
    if (mark !== null && fenceState(text, mark) === 'broken') {
      throw new TemplateLimit('broken_fence', 'it cuts the fence around text of an untrusted author');
    }
    return text;
  } catch (cause) {
    const { reason, details } = explain(cause, source);
    const message = `${source.path}: ${source.name} cannot be rendered: ${reason}`;
    throw new BatonError('template_render_error', message, { cause, details: { path: source.path, ...details } });
  }
}

/**
 * Before each step the library checks this limit for elapsed wall time. Counting steps instead gives the same result on
 * a busy machine as on an idle one.
 */
function limitSteps(context: Context): void {
  let steps = 0;
  context.renderLimit.check = () => {
    steps += 1;
    if (steps > mostSteps) throw new TemplateLimit('too_many_steps', `it takes more than ${mostSteps} steps`);
  };
}

/** A template that exceeded one of Baton's limits. */
class TemplateLimit extends Error {
  readonly problem: string;

  constructor(problem: string, message: string) {
    super(message);
    this.problem = problem;
  }
}

interface Explanation {
  readonly reason: string;
  readonly details: ProblemDetails;
}

/** The library's reason with the line number of the file instead of the template, and the text of that line. */
function explain(thrown: unknown, { text, firstLine }: TemplateSource): Explanation {
  const reason = thrown instanceof Error ? thrown.message.replace(/, line:\d+, col:\d+$/, '') : String(thrown);
  const cause = LiquidError.is(thrown) ? thrown.originalError : thrown;
  const problem = cause instanceof TemplateLimit ? { problem: cause.problem } : {};
  if (!LiquidError.is(thrown)) return { reason, details: problem };
  const [line = 1, column = 1] = thrown.token.getPosition();
  const excerpt = (text.split('\n')[line - 1] ?? '').trim().slice(0, longestExcerptChars);
  const shown = `${reason}, in ${JSON.stringify(excerpt)}`;
  if (firstLine === null) return { reason: shown, details: problem };
  const place = { line: firstLine + line - 1, column };
  return { reason: `line ${place.line}, column ${column}: ${shown}`, details: { ...place, ...problem } };
}

/**
 * A value as text in a prompt: a list is joined without a separator, as in Liquid; a map is JSON, because `[object
 * Object]` is of no use to an agent.
 */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join('');
  return isPlainObject(value) ? JSON.stringify(value) : String(value);
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
