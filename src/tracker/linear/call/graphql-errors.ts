import * as z from 'zod';
import { parseJson } from '../../../core/text/parse-json.ts';

/** One of the errors that a GraphQL answer may carry, with or without data. */
export interface GraphqlError {
  readonly message: string;
  /** Linear's code for the kind of error, such as `RATELIMITED`. */
  readonly code: string;
}

const graphqlError = z
  .object({
    message: z.string().catch(''),
    extensions: z
      .object({ code: z.string().catch(''), userPresentableMessage: z.string().catch('') })
      .catch({ code: '', userPresentableMessage: '' }),
  })
  .catch({ message: '', extensions: { code: '', userPresentableMessage: '' } })
  .transform(({ message, extensions }): GraphqlError => {
    const { code, userPresentableMessage: more } = extensions;
    const text = [message, more].filter((each, index, all) => each !== '' && all.indexOf(each) === index).join(': ');
    return { message: text === '' ? 'an error without a message' : text, code };
  });

const withErrors = z.object({ errors: z.array(graphqlError).min(1) });

/** The errors of an answer, from its body as text or as parsed JSON; empty when the body is not such an answer. */
export function errorsIn(body: unknown): readonly GraphqlError[] {
  const parsed = withErrors.safeParse(typeof body === 'string' ? parsedOrNull(body) : body);
  return parsed.success ? parsed.data.errors : [];
}

export function parsedOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Linear refuses a change of a missing issue with a message, not with a code. */
export function isAboutMissingIssue({ message }: GraphqlError): boolean {
  return /entity not found: issue|could not find referenced issue/i.test(message);
}
