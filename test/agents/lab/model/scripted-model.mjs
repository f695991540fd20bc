// A stand-in for the models behind Codex, Gemini CLI, OpenCode and pi, on loopback: no account, no network. script.mjs says
// what it answers.

import { createServer } from 'node:http';
import { chat, gemini, responses } from './formats.mjs';

/** An agent that loops must not fill the disk. */
const MOST_REQUESTS = 5_000;

export async function startScriptedModel() {
  const requests = [];
  const server = createServer(async (req, res) => {
    let raw = '';
    for await (const chunk of req) raw += chunk;
    const path = req.url.split('?')[0];
    requests.push({ path, body: raw });
    if (requests.length > MOST_REQUESTS) return res.destroy();
    const json = (status, value) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(value));
    };
    try {
      const out = await reply(req.method, path, raw === '' ? {} : JSON.parse(raw), res);
      if (out === undefined) json(404, { error: { message: 'not scripted', type: 'not_found' } });
      else if (out.fail) json(out.fail, failure(out.fail));
      else if (out.json) json(200, out.json);
    } catch (error) {
      if (!res.headersSent) json(400, { error: { message: String(error) } });
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function reply(method, path, body, res) {
  if (method === 'GET' && path.endsWith('/models'))
    return { json: { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'lab' }], models: [] } };
  if (method !== 'POST') return undefined;
  if (path.endsWith('/responses')) return responses(body, res);
  if (path.endsWith('/chat/completions')) return chat(body, res);
  if (path.endsWith(':streamGenerateContent')) return gemini(body, res, true);
  if (path.endsWith(':generateContent')) return gemini(body, res, false);
  return path.endsWith(':countTokens') ? { json: { totalTokens: 1200 } } : undefined;
}

function failure(status) {
  const isLimit = status === 429;
  return {
    error: {
      message: `scripted failure ${status}`,
      code: status,
      type: isLimit ? 'rate_limit_exceeded' : status < 500 ? 'invalid_request_error' : 'server_error',
      status: isLimit ? 'RESOURCE_EXHAUSTED' : 'INTERNAL',
    },
  };
}
