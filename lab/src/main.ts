/** The page: each section is an experiment of its own. */
import './style/page.css';
import './style/starvation.css';
import './style/benchmarks.css';
import './style/queue.css';
import { isolate } from './isolation.js';
import { byId, put } from './ui/dom.js';
import { every, framesPerSecond } from './ui/frames.js';
import { theme } from './ui/theme.js';

theme();

const why = await isolate();
if (why === undefined) {
  const [{ starvation }, { stepper }, { live }, { sync }, { benchmarks }, { capacitor }] = await Promise.all([
    import('./starvation/view.js'),
    import('./queue/stepper.js'),
    import('./queue/live.js'),
    import('./sync/view.js'),
    import('./bench/view.js'),
    import('./capacitor/view.js'),
  ]);
  starvation();
  stepper();
  live();
  sync();
  benchmarks();
  capacitor();
} else {
  const notice = byId('isolation');
  notice.hidden = false;
  put(notice, why);
}

const pill = byId('fps');
every(500, pill, (now) => {
  const fps = framesPerSecond();
  put(pill, `${fps} fps`);
  pill.classList.toggle('slow', now > 2000 && fps < 50);
});
document.documentElement.dataset.ready = 'yes';
