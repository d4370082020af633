import { render } from 'preact';
import { App } from './app.js';
import { applyTheme, getTheme } from './lib/theme.js';
import './style/index.css';

applyTheme(getTheme());
render(<App />, document.getElementById('root') as HTMLElement);
