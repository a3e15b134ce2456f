// Tokens of a language model: at most 1,000 in any 200 milliseconds. How many tokens a call uses is known after the call.
// So a call takes the most that it may use, and gives back what it has not used: the limit is never passed.
// Run: node node_modules/taketurns/examples/rate-tokens.mjs
// In a clone of the repository: node examples/rate-tokens.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiter } from 'taketurns/tasks';

const tokens = new RateLimiter(1000, 200, { burst: 1000 });
const MOST = 300; // the `max_tokens` of a request
let [reserved, used] = [0, 0];

async function ask(prompt) {
  const estimate = Math.ceil(prompt.length / 3) + MOST;
  const answer = await tokens.limit(model, estimate)(prompt);
  tokens.spend(answer.usage - estimate); // below 0: gives back. Above 0: those who wait go later
  reserved += estimate;
  used += answer.usage;
  return answer.text;
}

/** Stands for the model. */
async function model(prompt) {
  await sleep(10);
  return { text: prompt.toUpperCase(), usage: Math.ceil(prompt.length / 3) + 100 };
}

const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => ask(`question ${i}`)));
console.log(`${answers.length} answers used ${used} tokens of ${reserved} that they had taken`);
