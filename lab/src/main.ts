/** The page: each section is an experiment of its own. */
import './style/page.css';
import './style/opening.css';
import './style/starvation.css';
import './style/benchmarks.css';
import './style/queue.css';
import './style/hang.css';
import './style/channel.css';
import { isolate } from './isolation.js';
import { opening } from './opening/view.js';
import { byId, put } from './ui/dom.js';
import { every, framesPerSecond } from './ui/frames.js';
import { copy } from './ui/settings.js';
import { theme } from './ui/theme.js';

const SAID_MS = 2000;

theme();
opening();
const copies = byId('copy-install');
copies.addEventListener('click', async () => {
  put(copies, (await copy('npm install taketurns')) ? 'Copied' : 'Select it, please');
  setTimeout(() => put(copies, 'Copy'), SAID_MS);
});

const why = await isolate();
if (why === undefined) {
  const [
    { starvation },
    { stepper },
    { live },
    { readWriteLock, conditionAtWork },
    { sync },
    { hang },
    { channel },
    { benchmarks },
    { capacitor },
  ] = await Promise.all([
    import('./starvation/view.js'),
    import('./queue/stepper.js'),
    import('./queue/live.js'),
    import('./sync/rows.js'),
    import('./sync/view.js'),
    import('./hang/view.js'),
    import('./channel/view.js'),
    import('./bench/view.js'),
    import('./capacitor/view.js'),
  ]);
  starvation();
  stepper();
  live();
  readWriteLock();
  conditionAtWork();
  sync();
  hang();
  channel();
  benchmarks();
  capacitor();
} else {
  const notice = byId('isolation');
  notice.hidden = false;
  put(notice, why);
}

const frames = byId('fps');
every(500, frames, () => put(frames, `${framesPerSecond()} fps`));
// The browser scrolled to the anchor before the panels were there. The panels have moved the anchor.
if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
document.documentElement.dataset.ready = 'yes';
