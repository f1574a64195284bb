import { Context, Liquid, LiquidError, type Template } from 'liquidjs';
import { BatonError } from '../core/baton-error.ts';
import type { ErrorCode } from '../core/error-catalogue.ts';
import type { PromptInput } from '../core/workflow.ts';
import { promptVariables } from './prompt-variables.ts';

/** A template that needs more steps than this does not end, or should not be a prompt. */
const mostSteps = 100_000;
/** Counted by the library in characters and list items that filters and ranges make. */
const mostMemory = 8_000_000;
const longestPromptChars = 4_000_000;

const liquid = new Liquid({
  strictVariables: true,
  strictFilters: true,
  // `{% if issue.url %}` and `| default:` must be able to ask whether something is there.
  lenientIf: true,
  ownPropertyOnly: true,
  // Without templates in memory, `include`, `render` and `layout` would read files.
  templates: {},
  memoryLimit: mostMemory,
  outputEscape: textOf,
  timezoneOffset: 0,
  locale: 'en-US',
});

export interface TemplateSource {
  readonly text: string;
  /** For messages: the workflow file, and its line on which `text` starts. */
  readonly path: string;
  readonly firstLine: number;
}

/** Parses a template once; the function it returns renders a prompt, and throws `template_render_error` if it cannot. */
export function compileTemplate(source: TemplateSource): (input: PromptInput) => string {
  const template = parse(source);
  return (input) => render(template, input, source);
}

function parse(source: TemplateSource): Template[] {
  try {
    return liquid.parse(source.text);
  } catch (cause) {
    throw templateError('template_parse_error', 'the prompt template is not valid Liquid', source, cause);
  }
}

function render(template: Template[], input: PromptInput, source: TemplateSource): string {
  try {
    const context = new Context(promptVariables(input), liquid.options, { sync: true }, { liquid });
    limitSteps(context);
    const prompt = String(liquid.renderSync(template, context));
    if (prompt.length > longestPromptChars) throw new Error(`the prompt is longer than ${longestPromptChars} characters`);
    return prompt;
  } catch (cause) {
    throw templateError('template_render_error', 'the prompt template cannot be rendered', source, cause);
  }
}

/**
 * The library asks this limit before each step whether too much wall time has passed. Counting the steps instead gives
 * the same answer on a busy machine as on an idle one.
 */
function limitSteps(context: Context): void {
  let steps = 0;
  context.renderLimit.check = () => {
    steps += 1;
    if (steps > mostSteps) throw new Error(`it takes more than ${mostSteps} steps`);
  };
}

/** A list is joined without a separator, as Liquid does; a map is shown as JSON instead of `[object Object]`. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join('');
  return Object.prototype.toString.call(value) === '[object Object]' && isPlain(value)
    ? JSON.stringify(value)
    : String(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function templateError(code: ErrorCode, what: string, source: TemplateSource, cause: unknown): BatonError {
  const { path, firstLine } = source;
  const reason = cause instanceof Error ? cause.message.replace(/, line:\d+, col:\d+$/, '') : String(cause);
  if (!LiquidError.is(cause)) return new BatonError(code, `${path}: ${what}: ${reason}`, { cause, details: { path } });
  const [line, column] = cause.token.getPosition();
  const fileLine = firstLine + line - 1;
  const excerpt = (source.text.split('\n')[line - 1] ?? '').trim().slice(0, longestExcerptChars);
  const message = `${path}: ${what}: line ${fileLine}, column ${column}: ${reason}, in ${JSON.stringify(excerpt)}`;
  return new BatonError(code, message, { cause, details: { path, line: fileLine, column } });
}

const longestExcerptChars = 120;
