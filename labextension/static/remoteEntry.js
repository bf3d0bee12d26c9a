// A button in the notebook's toolbar: will the active cell crash? The verdict appears under the cell, which is not run;
// what the rules leave open is rehearsed in a copy of the kernel. The status bar shows the step of the guard.
//
// Written by hand as the container that JupyterLab 4 loads (webpack's module federation: `init` gets the shared
// libraries, `get` gives the plugin), so that nothing has to be built. All text is put in as text, never as HTML.
(() => {
    'use strict';

    const NAME = 'crane-workbench';
    const COMMAND = 'crane:check';
    // No command with a package's name: none of that name is on the index, and anybody could put one there.
    const REMEDY = 'The kernel needs Python 3.11 or later. Install Crane Workbench in its environment from the folder of '
        + 'its source (README: "Ask in the notebook that is open"), then restart the kernel. '
        + 'A kernel of Python 3.8 or later is looked at from outside by: crane check --attach';
    const PROGRESS = 'application/vnd.crane.asking+json';
    const STYLE = `
.crane-verdict { margin: 4px 8px 4px calc(var(--jp-cell-prompt-width) + 8px); padding: 6px 12px; line-height: 1.5;
    border-left: 4px solid var(--jp-border-color1); background: var(--jp-layout-color1);
    color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1); overflow-wrap: anywhere; }
.crane-verdict[data-verdict="crash"] { border-left-color: var(--jp-error-color1); }
.crane-verdict[data-verdict="nothing certain"] { border-left-color: var(--jp-ui-font-color2); }
.crane-verdict[data-rehearsed="crash"] { border-left: 6px double var(--jp-error-color1); }
.crane-verdict[data-rehearsed="ran"] { border-left: 6px double var(--jp-success-color1); }
.crane-verdict[data-stale] { border-left-style: dashed; }
.crane-verdict-head { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.crane-verdict-head strong { flex: 1 1 auto; }
.crane-verdict[data-stale] strong { text-decoration: line-through; }
.crane-verdict button { font: inherit; color: inherit; background: var(--jp-layout-color2); cursor: pointer;
    border: 1px solid var(--jp-border-color1); border-radius: 3px; padding: 0 8px; min-height: 24px; }
.crane-verdict dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 4px 0 0; }
.crane-verdict dt { color: var(--jp-ui-font-color2); }
.crane-verdict dd { margin: 0; }
.crane-fix { border-top: 1px solid var(--jp-border-color2); margin-top: 6px; padding-top: 6px; }
.crane-fix pre { margin: 4px 0; overflow-x: auto; font-family: var(--jp-code-font-family);
    font-size: var(--jp-code-font-size); }
.crane-fix [data-sign="+"] { color: var(--jp-success-color0, var(--jp-success-color1)); }
.crane-fix [data-sign="-"] { color: var(--jp-error-color0, var(--jp-error-color1)); }
.crane-verdict dd[data-name="line"] { font-family: var(--jp-code-font-family); white-space: pre-wrap; }
`;

    let shared;
    /** A library that JupyterLab shares, in the version that it has. */
    const library = async name => (await Object.values(shared[name])[0].get())();

    const element = (kind, text, more = {}) => Object.assign(document.createElement(kind), {textContent: text, ...more});

    /** What `ask` of the kernel's side (crane_core/live/button.py) answers, or words that say why there is no answer. */
    async function answer(kernel, ask, source, onProgress) {
        const code = `__import__('crane_core.live.button', fromlist=['${ask}']).${ask}(${JSON.stringify(source)})`;
        const request = kernel.requestExecute(
            {code: '', silent: true, store_history: false, user_expressions: {crane: code}});
        request.onIOPub = ({content}) => {
            const waiting = content.data?.[PROGRESS];
            if (waiting) {
                onProgress(waiting.asking);
            }
        };
        const reply = await request.done;
        const told = reply.content.user_expressions?.crane;
        if (told?.status === 'ok') {
            return told.data['application/json'];
        }
        const {ename, evalue} = told ?? reply.content;
        const missing = ename === 'ModuleNotFoundError' && /crane_core/.test(evalue);
        const unusable = ['ImportError', 'SyntaxError'].includes(ename);
        return {
            title: 'No verdict',
            rows: [['reason', missing ? 'Crane Workbench is not installed in the environment of this kernel.'
                                      : `${ename}: ${evalue}`],
                   ...(missing || unusable ? [['remedy', REMEDY]] : [])],
        };
    }

    /** The step of the guard in this kernel, without importing anything there; '' where the magics are not loaded. */
    async function guardStep(kernel) {
        // The notebook may have bound `get_ipython` to something else.
        const shell = "__import__('IPython').get_ipython()";
        const code = `str(getattr(getattr(${shell}.find_line_magic('crane'), '__self__', None), 'guard_step', ''))`;
        const reply = await kernel.requestExecute(
            {code: '', silent: true, store_history: false, user_expressions: {crane: code}}).done;
        const told = reply.content.user_expressions?.crane?.data?.['text/plain'] ?? '';
        return ["'off'", "'predict'", "'rehearse'"].includes(told) ? told.slice(1, -1) : '';
    }

    async function plugin() {
        const [{INotebookTracker, NotebookActions}, {ICommandPalette, CommandToolbarButton}, {Widget}, {IStatusBar}] =
            await Promise.all(['@jupyterlab/notebook', '@jupyterlab/apputils', '@lumino/widgets',
                               '@jupyterlab/statusbar'].map(library));

        /** What stands under a cell. */
        class Verdict extends Widget {
            constructor(panel, cell) {
                super();
                this.addClass('crane-verdict');
                this.node.setAttribute('role', 'status');
                this.panel = panel;
                this.cell = cell;
                this.source = '';
                this.edited = () => {
                    if (cell.model.sharedModel.source !== this.source) {
                        this.mark('the cell was edited');
                    }
                };
                cell.model.sharedModel.changed.connect(this.edited);
            }

            dispose() {
                if (!this.isDisposed) {
                    this.cell.model?.sharedModel.changed.disconnect(this.edited);
                    this.cell.craneVerdict = undefined;
                    super.dispose();
                }
            }

            async ask() {
                const kernel = this.panel.sessionContext.session?.kernel;
                this.source = this.cell.model.sharedModel.source;
                this.show_({title: kernel?.status === 'busy' ? 'Waiting for the kernel…' : 'Looking…', rows: []});
                if (!kernel) {
                    return this.show_({title: 'No verdict', rows: [['reason', 'This notebook has no kernel.']]});
                }
                const asked = this.asked = Symbol('asked');
                const isWaited = () => asked === this.asked && !this.isDisposed;
                const verdict = await this.answered(kernel, 'answer', 'No verdict', library => {
                    if (isWaited()) {
                        this.show_({title: `Asking ${library}…`, rows: []});
                    }
                });
                if (!isWaited()) {
                    return;
                }
                if (!verdict.leaves_open) {
                    this.show_({...verdict, fixable: verdict.predicted === 'crash'});
                    return this.edited();
                }
                this.show_({...verdict, rows: [['rehearsed', 'running in a copy of the kernel…'], ...verdict.rows]});
                const rehearsed = await this.answered(kernel, 'rehearsal', 'Not rehearsed');
                if (isWaited()) {
                    this.show_(this.together(verdict, rehearsed));
                    this.edited();
                }
            }

            /** Look for fixes, and show those that ran through in a copy. */
            async fix(button) {
                const kernel = this.panel.sessionContext.session?.kernel;
                const asked = this.asked;
                button.disabled = true;
                button.textContent = 'Trying fixes in copies…';
                const found = await this.answered(kernel, 'fixes', 'No fix');
                if (asked === this.asked && !this.isDisposed) {
                    button.remove();
                    this.node.append(...(found.fixes ?? []).map(one => this.fixCard(one)));
                    // A refusal has rows; what is said beside fixes is one sentence.
                    const words = [found.title, ...(found.rows ?? []).map(([, text]) => text)].filter(Boolean).join(' ');
                    if (words) {
                        this.node.append(element('div', words, {className: 'crane-fix'}));
                    }
                }
            }

            fixCard({title, outcome, diff, source}) {
                const card = element('div', '', {className: 'crane-fix'});
                const lines = element('pre', '');
                lines.append(...diff.map(line => {
                    const shown = element('span', line + '\n');
                    shown.dataset.sign = line[0];
                    return shown;
                }));
                card.append(element('strong', title), element('div', outcome), ...(diff.length ? [lines] : []));
                if (source !== null) {
                    // One step of the editor's undo; the cell is changed and not run.
                    const apply = () => this.cell.model.sharedModel.setSource(source);
                    card.append(element('button', 'Apply', {type: 'button', onclick: apply}));
                }
                return card;
            }

            async answered(kernel, ask, failed, onProgress = () => {}) {
                try {
                    return await answer(kernel, ask, this.source, onProgress);
                } catch {
                    return {title: failed, rows: [['reason', 'The kernel was restarted or ended before it answered.']]};
                }
            }

            /** Predicted and rehearsed, as two lines: the second is what was executed. */
            together(verdict, rehearsed) {
                const outcome = rehearsed.crashed === undefined ? '' : rehearsed.crashed ? 'crash' : 'ran';
                const head = {title: rehearsed.title, rows: [...rehearsed.rows, ['predicted', verdict.title], ...verdict.rows]};
                const below = {...verdict, rows: [['rehearsed', rehearsed.title], ...rehearsed.rows, ...verdict.rows]};
                return {...(outcome === 'crash' ? head : below), predicted: verdict.predicted, outcome,
                        fixable: outcome === 'crash'};
            }

            /**
             * predicted: "crash" or "nothing certain"; undefined where there is no verdict. outcome: "crash" or "ran" in
             * a copy, where the cell was rehearsed. fixable: whether fixes can be looked for.
             */
            show_({title, rows, predicted, outcome = '', fixable = false}) {
                const head = element('div', '', {className: 'crane-verdict-head'});
                this.why = element('span', '');
                const again = element('button', 'Look again', {type: 'button', onclick: () => void this.ask()});
                const close = element('button', 'Close', {type: 'button', onclick: () => this.dispose()});
                const fix = element('button', 'Find a fix', {type: 'button', onclick: () => void this.fix(fix)});
                head.append(element('strong', title), this.why, ...(fixable ? [fix] : []), again, close);
                const list = document.createElement('dl');
                for (const [name, text] of rows) {
                    const value = element('dd', '');
                    value.dataset.name = name;
                    // What stands between brackets is at the odd places.
                    value.append(...text.split(/\bIn \[(\d{1,9})\]/).map(
                        (part, place) => place % 2 ? this.cellLink(Number(part)) : part));
                    list.append(element('dt', name), value);
                }
                this.node.replaceChildren(head, ...(rows.length ? [list] : []));
                this.node.dataset.verdict = predicted ?? 'none';
                this.node.dataset.rehearsed = outcome;
                this.mark('');
            }

            /** "In [3]", which leads to that cell while the notebook has it. */
            cellLink(number) {
                const named = `In [${number}]`;
                const cell = this.panel.content.widgets.find(one => one.model.executionCount === number);
                const go = () => {
                    this.panel.content.activeCellIndex = this.panel.content.widgets.indexOf(cell);
                    void this.panel.content.scrollToCell(cell);
                };
                return cell ? element('button', named, {type: 'button', onclick: go}) : named;
            }

            mark(why) {
                this.node.toggleAttribute('data-stale', Boolean(why));
                this.why.textContent = why ? `Out of date: ${why}.` : '';
            }
        }

        function verdictOf(panel, cell) {
            if (!cell.craneVerdict) {
                const at = cell.layout.widgets.indexOf(cell.inputArea.parent) + 1;
                cell.craneVerdict = new Verdict(panel, cell);
                cell.layout.insertWidget(at, cell.craneVerdict);
            }
            return cell.craneVerdict;
        }

        /** What the status bar shows of the notebook in front: the step of its kernel's guard. */
        class GuardChip extends Widget {
            constructor(tracker) {
                super();
                this.addClass('crane-guard');
                this.node.setAttribute('role', 'status');
                this.tracker = tracker;
            }

            /** Asks the kernel; only when its step may have changed, as each question makes it busy for a moment. */
            async look() {
                const asked = this.asked = Symbol('asked');
                const session = this.tracker.currentWidget?.sessionContext;
                const kernel = session?.session?.kernel;
                const step = kernel ? await guardStep(kernel).catch(() => '') : '';
                if (asked === this.asked) {
                    this.show(step);
                }
            }

            show(step) {
                this.asked = undefined;
                this.node.textContent = step && `Crane guard: ${step}`;
                this.node.title = step && 'Change it in a cell: %crane guard on, rehearse or off';
            }
        }

        const outdate = (notebook, why) => notebook.widgets.forEach(cell => cell.craneVerdict?.mark(why));

        function showGuard(tracker, statusBar) {
            const chip = new GuardChip(tracker);
            statusBar.registerStatusItem(`${NAME}:guard`, {item: chip, align: 'left', rank: 20});
            const ready = panel => void panel?.sessionContext.ready.then(() => chip.look());
            tracker.currentChanged.connect((_, panel) => ready(panel));
            ready(tracker.currentWidget);
            tracker.widgetAdded.connect((_, panel) => {
                panel.sessionContext.kernelChanged.connect(() => ready(panel));
                panel.sessionContext.statusChanged.connect((_, status) => {
                    // A new kernel has no guard, and a question to the old one may never be answered.
                    if (status.endsWith('restarting')) {
                        chip.show('');
                    }
                });
                // Its configuration may have turned the guard on.
                panel.sessionContext.connectionStatusChanged.connect((_, status) => {
                    if (status === 'connected') {
                        void panel.sessionContext.session?.kernel?.info.then(() => chip.look());
                    }
                });
            });
            NotebookActions.executed.connect((_, {cell}) => {
                // Nothing but these words changes the guard.
                if (/crane/.test(cell.model.sharedModel.source)) {
                    void chip.look();
                }
            });
        }

        function activate(app, tracker, palette, statusBar) {
            document.head.append(element('style', STYLE));
            const active = () => tracker.activeCell?.model.type === 'code' ? tracker.activeCell : null;
            app.commands.addCommand(COMMAND, {
                label: 'Will this cell crash?',
                caption: 'Predict whether the active cell will crash, then run it for up to 2 s in a copy of the kernel. '
                    + 'In the kernel itself it is not run.',
                isEnabled: () => active() !== null,
                execute: () => verdictOf(tracker.currentWidget, active()).ask(),
            });
            tracker.activeCellChanged.connect(() => app.commands.notifyCommandChanged(COMMAND));
            palette?.addItem({command: COMMAND, category: 'Notebook Operations'});
            app.docRegistry.addWidgetExtension('Notebook', {
                createNew: panel => {
                    const button = new CommandToolbarButton({commands: app.commands, id: COMMAND});
                    panel.toolbar.insertBefore('spacer', 'craneCheck', button);
                    panel.sessionContext.statusChanged.connect((_, status) => {
                        if (status.endsWith('restarting')) {
                            outdate(panel.content, 'the kernel was restarted');
                        }
                    });
                    return button;
                },
            });
            if (statusBar) {
                showGuard(tracker, statusBar);
            }
            // A cell that ran shows its outcome; verdicts on the others may no longer hold.
            NotebookActions.executed.connect((_, {notebook, cell}) => {
                cell.craneVerdict?.dispose();
                outdate(notebook, 'another cell has run since');
            });
        }

        return {id: `${NAME}:plugin`, autoStart: true, requires: [INotebookTracker], optional: [ICommandPalette, IStatusBar],
                activate};
    }

    (window._JUPYTERLAB ??= {})[NAME] = {
        init: scope => { shared = scope; },
        get: async () => {
            const made = await plugin();
            return () => ({__esModule: true, default: made});
        },
    };
})();
