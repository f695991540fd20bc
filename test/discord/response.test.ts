import { describe, expect, it } from 'vitest';
import { judgeResponse } from '../../discord/response.ts';

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

describe('an answer from the server', () => {
  it.each([
    [200, { id: '1' }, { kind: 'done', value: { id: '1' } }],
    [204, '', { kind: 'done', value: undefined }],
    [429, { retry_after: 1.5, global: false }, { kind: 'limited', scope: 'route', waitMs: 1_500 }],
    [429, { retry_after: 2, global: true }, { kind: 'limited', scope: 'everything', waitMs: 2_000 }],
    [500, 'oops', { kind: 'failed', error: { code: 'discord_unreachable' } }],
    [502, '', { kind: 'failed', error: { code: 'discord_unreachable' } }],
    [200, '<html>', { kind: 'failed', error: { code: 'discord_unreachable' } }],
    [401, { message: '401: Unauthorized', code: 0 }, { kind: 'refused', error: { code: 'discord_unauthorized' } }],
    [
      404,
      { message: 'Unknown Channel', code: 10003 },
      { kind: 'refused', error: { code: 'discord_refused', answer: { status: 404, code: 10003 } } },
    ],
  ])('%i %j is parsed', (status, body, verdict) => {
    expect(judgeResponse('GET /x', answer(status, body))).toMatchObject(verdict);
  });

  it('with a limit is obeyed by the longer of its two times', () => {
    const both = answer(429, { retry_after: 64.57 }, { 'retry-after': '65' });
    expect(judgeResponse('x', both)).toMatchObject({ waitMs: 65_000 });
  });

  it.each([
    ['<html>You are being rate limited</html>'],
    [{ code: 0, message: 'You are being blocked from accessing our API temporarily' }],
  ])('of a ban without a time pauses everything for a minute: %j', (body) => {
    expect(judgeResponse('x', answer(429, body))).toEqual({ kind: 'limited', scope: 'everything', waitMs: 60_000 });
  });

  it('produces an error with the request, the answer and the next step', () => {
    const verdict = judgeResponse(
      'POST /channels/1/messages',
      answer(403, { message: 'Missing Permissions', code: 50013 }),
    );
    expect(verdict).toMatchObject({
      error: {
        message: 'POST /channels/1/messages: 403 `Missing Permissions (50013)`',
        hint: expect.stringContaining('Send Messages in Threads'),
      },
    });
  });

  it.each([0, 200, 240, 245, 250, 260, 299, 330])(
    'has no part of a token that the server repeats after %i characters',
    (length) => {
      const token = `${'M'.repeat(26)}.GabcdE.${'z'.repeat(38)}`;
      const text = `${'- '.repeat(length / 2)}${token}`;
      for (const body of [text, { message: text, code: 1 }, { message: 'x', code: 1, errors: { a: text } }])
        expect(judgeResponse('x', answer(400, body))).toMatchObject({
          error: { message: expect.not.stringMatching(/MMM|zzz/) },
        });
    },
  );

  it('that did not come from the API is recognised', () => {
    expect(judgeResponse('x', answer(403, 'error code: 1010'))).toMatchObject({
      error: { hint: expect.stringContaining('edge') },
    });
  });
});
